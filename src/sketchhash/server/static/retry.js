// @ts-check
/** Try again by itself: soon after the first failure, then less and less often. */

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
