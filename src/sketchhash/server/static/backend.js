// @ts-check
/** The back end of this page: the service that sent it, or the engine beside it if it is a static site. */

import { service } from "./service.js";

/** Where the files of a static site's gallery lie, relative to the page. */
const place = document.documentElement.dataset.gallery;

/** @type {import("./api.js").BackEnd} */
export const backEnd = place ? (await import("./engine/local.js")).openLocal(place) : service;
