// @ts-check
/** Search while drawing: the newest query wins and older answers are dropped; failed searches are retried. */

/**
 * @template Query, Answer
 * @typedef {{ query: Query, answer: Answer } | { query: Query, error: unknown }} Outcome
 */

/**
 * Return three functions: `later` searches when the hand rests, or after `longestMs`, so that hits appear while a
 * long line is drawn; `now` searches at once; `stop` drops the query.
 * @template Query, Answer
 * @param {(query: Query, signal: AbortSignal) => Promise<Answer>} search
 * @param {(outcome: Outcome<Query, Answer>) => void} show
 */
export function liveSearch(search, show, { quietMs = 120, longestMs = 400 } = {}) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {AbortController | undefined} */
  let inFlight;
  /** @type {number | null} */
  let waitingSince = null;

  function stop() {
    clearTimeout(timer);
    waitingSince = null;
    inFlight?.abort();
  }

  /** @param {Query} query */
  async function now(query) {
    stop();
    const request = (inFlight = new AbortController());
    try {
      const answer = await search(query, request.signal);
      if (!request.signal.aborted) show({ query, answer });
    } catch (error) {
      if (!request.signal.aborted) show({ query, error });
    }
  }

  /** @param {Query} query */
  function later(query) {
    clearTimeout(timer);
    waitingSince ??= performance.now();
    const left = longestMs - (performance.now() - waitingSince);
    timer = setTimeout(now, Math.max(0, Math.min(quietMs, left)), query);
  }

  return { later, now, stop };
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
