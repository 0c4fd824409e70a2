const rows = [...document.querySelectorAll("details.task")];
const section = document.getElementById("filter-section");
const state = document.getElementById("filter-state");
const words = document.getElementById("filter-text");
const count = document.getElementById("filter-count");
function filter() {
  let shown = 0;
  for (const row of rows) {
    const fits = (!section.value || row.dataset.section === section.value)
      && (!state.value || row.dataset.state === state.value)
      && (!words.value || row.textContent.toLowerCase().includes(words.value.toLowerCase()));
    row.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  count.textContent = `${shown} of ${rows.length} tasks`;
}
for (const control of [section, state, words]) control.addEventListener("input", filter);
if (location.hash) {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
}
filter();
