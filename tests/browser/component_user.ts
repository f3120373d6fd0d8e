// How a page in TypeScript uses the web component: it is compiled, and never run.

import { type Answer, type Hit, SketchSearch } from "../../web/sketch-search.js";

const search = document.createElement("sketch-search");
const same: SketchSearch = search;
same.src = "/gallery/";
same.count = 24;
same.strokes = [[[0, 0], [512, 512]]];
same.addEventListener("hits", ({ detail }) => show(detail));
same.addEventListener("select", (event) => open(event.detail));
same.addEventListener("problem", ({ detail }) => console.warn(detail.toUpperCase()));

function show({ hits, verdict }: Answer): string[] {
  return verdict === "unknown" ? [] : hits.map((hit) => hit.label ?? hit.name);
}

function open(hit: Hit): void {
  if (hit.original) location.assign(hit.original);
}

// @ts-expect-error: a count is a number
same.count = "many";
