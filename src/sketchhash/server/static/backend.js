// @ts-check
/** The back end of this page: what answers its questions. */

export { service as backEnd } from "./service.js";
