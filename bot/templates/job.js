"use strict";
// Shows how far a job is while it goes on. Whatever comes is set as text, never as markup.
const source = new EventSource(`${location.pathname}/live`);

source.addEventListener("state", (event) => {
  const shown = JSON.parse(event.data).shown;
  for (const place of document.querySelectorAll("[data-live]")) {
    const text = shown[place.dataset.live] ?? "";
    place.textContent = text;
    for (const row of document.querySelectorAll(`[data-row="${place.dataset.live}"]`)) {
      row.hidden = text === "";
    }
  }
  const state = document.querySelector(".state");
  state.className = `state ${shown.state}`;
});

// The page as it is in the end has the answer and the reports, and no script.
source.addEventListener("over", () => {
  source.close();
  location.reload();
});

// A stream that ends is opened again by the browser; one that is refused is not.
source.addEventListener("error", () => {
  if (source.readyState === EventSource.CLOSED) {
    setTimeout(() => location.reload(), 5000);
  }
});
