// @ts-check
/** A shop would open the page of the product; this one says which was chosen. */

const search = document.querySelector("sketch-search");
const chosen = document.getElementById("chosen");

search?.addEventListener("select", ({ detail: hit }) => {
  if (chosen) chosen.textContent = `You have chosen ${hit.name}.`;
});
