// @ts-check
/** The files of a site's gallery: what is packed is unpacked here, so that every host sends it as small as it can be. */

const GZIP = [0x1f, 0x8b];

export class Files {
  #place;
  /** @type {Map<string, Promise<any>>} */
  #kept = new Map();

  /** @param {string} place the address of the folder, with a slash at its end */
  constructor(place) {
    this.#place = place;
  }

  /** Return the address of a file. @param {string} name */
  address(name) {
    return new URL(name, this.#place).href;
  }

  /** Fetch a file and unpack it. @param {string} name @returns {Promise<ArrayBuffer>} */
  async bytes(name) {
    const response = await fetch(this.address(name));
    if (!response.ok) throw new Error(`The gallery has no ${name}: the site answered with status ${response.status}.`);
    const content = await response.arrayBuffer();
    const head = new Uint8Array(content, 0, Math.min(2, content.byteLength));
    // Some hosts say that a packed file is packed, and then the browser has unpacked it.
    if (head[0] !== GZIP[0] || head[1] !== GZIP[1]) return content;
    return new Response(new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  /** Fetch a file of JSON. @param {string} name @returns {Promise<any>} */
  async json(name) {
    return JSON.parse(new TextDecoder().decode(await this.bytes(name)));
  }

  /**
   * Return what `read` makes of a file; the next time, the same.
   * @template Value
   * @param {string} name
   * @param {(name: string) => Promise<Value>} read
   * @returns {Promise<Value>}
   */
  keep(name, read) {
    let reading = this.#kept.get(name);
    if (!reading) {
      reading = read(name);
      this.#kept.set(name, reading);
      reading.catch(() => this.#kept.delete(name)); // the network may be back the next time
    }
    return reading;
  }
}
