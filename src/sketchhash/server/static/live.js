// @ts-check
/** Search while drawing: one search at a time, the newest query wins; failed searches are retried. */

/**
 * @template Query, Answer
 * @typedef {{ query: Query, answer: Answer } | { query: Query, error: unknown }} Outcome
 */

/**
 * Return functions that search, one search at a time: `later` when the hand rests, or after `longestMs`, so that hits
 * appear while a long line is drawn; `settled` at once, unless this very query was asked already; `now` at once;
 * `stop` drops the query.
 *
 * A query that comes while another is under way waits for its answer, and the newest one is asked next: aborting a
 * request would not stop the work for it, but add to it. Only a search that takes longer than `patienceMs` is given up.
 * @template Query, Answer
 * @param {(query: Query, signal: AbortSignal) => Promise<Answer>} search
 * @param {(outcome: Outcome<Query, Answer>) => void} show
 */
export function liveSearch(search, show, { quietMs = 120, longestMs = 400, patienceMs = 1000 } = {}) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let impatience;
  /** @type {number | null} */
  let waitingSince = null;
  /** @type {{ request: AbortController, sentAt: number } | undefined} */
  let inFlight;
  /** @type {{ query: Query, isFinal: boolean } | undefined} */
  let next;
  /** @type {Query | undefined} */
  let latest;

  function stop() {
    clearTimeout(timer);
    clearTimeout(impatience);
    waitingSince = null;
    next = latest = undefined;
    giveUp();
  }

  function giveUp() {
    inFlight?.request.abort();
    inFlight = undefined;
  }

  /** @param {Query} query */
  function now(query) {
    ask(query, true);
  }

  /** @param {Query} query */
  function settled(query) {
    if (query === latest) clearTimeout(timer);
    else ask(query, true);
  }

  /** @param {Query} query */
  function later(query) {
    clearTimeout(timer);
    waitingSince ??= performance.now();
    const left = longestMs - (performance.now() - waitingSince);
    timer = setTimeout(ask, Math.max(0, Math.min(quietMs, left)), query, false);
  }

  /**
   * @param {Query} query
   * @param {boolean} isFinal whether an answer to an older query is of no use any more
   */
  function ask(query, isFinal) {
    clearTimeout(timer);
    clearTimeout(impatience);
    waitingSince = null;
    latest = query;
    if (inFlight && performance.now() - inFlight.sentAt > patienceMs) giveUp();
    next = inFlight && { query, isFinal };
    if (!inFlight) void send(query);
    else impatience = setTimeout(ask, inFlight.sentAt + patienceMs - performance.now() + 1, query, isFinal);
  }

  /** @param {Query} query */
  async function send(query) {
    const request = new AbortController();
    inFlight = { request, sentAt: performance.now() };
    /** @type {Outcome<Query, Answer>} */
    let outcome;
    try {
      outcome = { query, answer: await search(query, request.signal) };
    } catch (error) {
      outcome = { query, error };
    }
    if (inFlight?.request !== request) return;
    inFlight = undefined;
    const waiting = next;
    if (!waiting || (!waiting.isFinal && "answer" in outcome)) {
      if ("error" in outcome) latest = undefined;
      show(outcome);
    }
    if (!waiting) return;
    next = undefined;
    clearTimeout(impatience);
    void send(waiting.query);
  }

  return { later, settled, now, stop };
}

const FIRST_SECONDS = 2;
const LONGEST_SECONDS = 30;

/**
 * Return functions that call `again` by themselves: soon after the first failure, then less and less often.
 * @param {() => void} again
 */
export function retryLater(again) {
  let seconds = FIRST_SECONDS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function cancel() {
    clearTimeout(timer);
    timer = undefined;
  }

  addEventListener("online", () => {
    if (timer !== undefined) again();
  });

  return {
    cancel,
    /**
     * Schedule the next try, and return in how many seconds it comes.
     * @param {number | null} asked the seconds that the service asked for
     */
    schedule(asked) {
      const wait = asked ?? seconds;
      seconds = Math.min(seconds * 2, LONGEST_SECONDS);
      cancel();
      timer = setTimeout(again, wait * 1000);
      return wait;
    },
    /** Start again from the shortest delay, after a success. */
    reset() {
      cancel();
      seconds = FIRST_SECONDS;
    },
  };
}
