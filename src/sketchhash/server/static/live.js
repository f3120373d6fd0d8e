// @ts-check
/** Search while drawing: the newest question wins, older answers are dropped. */

/**
 * @template Question, Answer
 * @typedef {{ question: Question, answer: Answer } | { question: Question, error: unknown }} Outcome
 */

/**
 * Give `later`, which waits until the hand rests (but not for ever: a long line shows hits while it is
 * drawn), `now`, which does not wait, and `stop`, which forgets the question.
 * @template Question, Answer
 * @param {(question: Question, signal: AbortSignal) => Promise<Answer>} search
 * @param {(outcome: Outcome<Question, Answer>) => void} show
 */
export function liveSearch(search, show, { quietMs = 120, patienceMs = 400 } = {}) {
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

  /** @param {Question} question */
  async function now(question) {
    stop();
    const request = (inFlight = new AbortController());
    try {
      const answer = await search(question, request.signal);
      if (!request.signal.aborted) show({ question, answer });
    } catch (error) {
      if (!request.signal.aborted) show({ question, error });
    }
  }

  /** @param {Question} question */
  function later(question) {
    clearTimeout(timer);
    waitingSince ??= performance.now();
    const patience = patienceMs - (performance.now() - waitingSince);
    timer = setTimeout(now, Math.max(0, Math.min(quietMs, patience)), question);
  }

  return { later, now, stop };
}

const FIRST_SECONDS = 2;
const LONGEST_SECONDS = 30;

/** @param {() => void} again */
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
     * Plan the next try, and say in how many seconds it comes.
     * @param {number | null} asked what the service asked for
     */
    plan(asked) {
      const wait = asked ?? seconds;
      seconds = Math.min(seconds * 2, LONGEST_SECONDS);
      cancel();
      timer = setTimeout(again, wait * 1000);
      return wait;
    },
    /** It worked: the next failure is a first one again. */
    settle() {
      cancel();
      seconds = FIRST_SECONDS;
    },
  };
}
