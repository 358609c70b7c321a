"use strict";
// Posts the form and puts what the server answers in its place. All numbers come from the server.

const KEPT = "duffdp-plan";
let running = null;
let rebuilding = null;
let timer = 0;

const form = () => document.getElementById("plan");
const outcome = () => document.getElementById("outcome");

function fields(extra) {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form())) if (typeof value === "string") given.append(name, value);
  for (const [name, value] of Object.entries(extra || {})) given.append(name, value);
  return given;
}

function keep() {
  const given = fields();
  for (const name of ["csrf", "add", "remove", "find"]) given.delete(name);
  sessionStorage.setItem(KEPT, given.toString());
}

async function post(path, body) {
  if (running) running.abort();
  running = new AbortController();
  const signal = running.signal;
  document.body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(path, { method: "POST", body, headers: { "X-Fragment": "1" }, signal });
    return await answer.text();
  } catch (error) {
    if (error.name === "AbortError") return null;
    return '<section class="card problem" role="alert"><p>The studio does not respond. Check that it is still running.</p></section>';
  } finally {
    if (!signal.aborted) document.body.removeAttribute("aria-busy");
  }
}

function swap(target, html) {
  const focused = document.activeElement;
  const id = target.contains(focused) ? focused.id : "";
  const at = id && "selectionStart" in focused ? focused.selectionStart : null;
  const wasOpen = [...target.querySelectorAll("details")].map((one) => one.open);
  target.innerHTML = html;
  if (target === outcome()) target.querySelectorAll("details").forEach((one, i) => { one.open = wasOpen[i] || false; });
  const again = id && document.getElementById(id);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (at !== null) try { again.setSelectionRange(at, at); } catch { /* not a text */ }
}

function marked() {
  const name = outcome().querySelector("[data-field]")?.dataset.field;
  for (const one of form().elements) one.toggleAttribute && one.removeAttribute("aria-invalid");
  if (name) document.getElementById(name)?.setAttribute("aria-invalid", "true");
}

async function preview(extra) {
  const html = await post("/preview", fields(extra));
  if (html === null) return;
  swap(outcome(), html);
  marked();
  // Beside what was replaced: screen readers follow a region that stays.
  document.getElementById("told").textContent = outcome().querySelector(".headline")?.textContent || "";
  keep();
  if (outcome().querySelector("[data-simulate]") && !(extra && extra.simulate)) await preview({ simulate: "yes" });
}

function rebuild(extra, body) {
  clearTimeout(timer); // what was typed goes with it
  rebuilding = rebuilt(extra, body);
}

async function rebuilt(extra, body) {
  const html = await post("/plan", body || fields(extra));
  if (html === null) return;
  if (!html.includes('id="plan"')) return outcome() ? swap(outcome(), html) : swap(document.getElementById("main"), html);
  swap(document.getElementById("main"), html);
  keep();
  if (outcome().querySelector("[data-simulate]")) await preview({ simulate: "yes" });
}

function slide(epsilon) {
  const slider = document.getElementById("slider");
  const above = slider.dataset.values.split(" ").findIndex((value) => Number(value) >= epsilon);
  slider.value = above < 0 ? slider.max : above;
  slider.setAttribute("aria-valuetext", String(epsilon));
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(async () => { await rebuilding; preview(); }, 60);
}

async function codes(input) {
  const text = await input.files[0].text();
  const area = document.getElementById(input.dataset.codes);
  const first = (line) => line.split(/[,;\t]/)[0].replace(/^"|"$/g, "").trim();
  area.value = text.split(/\r?\n/).map(first).filter(Boolean).join("\n");
  later();
}

async function sample(input) {
  const body = new URLSearchParams({ csrf: form().elements.csrf.value, column: input.dataset.column, records: await input.files[0].text() });
  const told = input.parentElement.querySelector("small");
  const answer = await fetch("/sample", { method: "POST", body });
  told.textContent = answer.ok ? `${await answer.text()} Treated as public, not protected.` : "The file must have one number per line, and at most 200,000 of them.";
  if (answer.ok) form().elements[`shape.${input.dataset.sample}`].value = "sample";
  later();
}

document.addEventListener("input", (event) => {
  const input = event.target;
  if (!form() || !form().contains(input) || input.type === "file" || input.matches("select[data-rebuild]")) return;
  if (input.id === "slider") {
    const value = input.dataset.values.split(" ")[input.value];
    form().elements.epsilon.value = value;
    input.setAttribute("aria-valuetext", value);
  }
  if (input.id === "epsilon") slide(Number(input.value));
  later();
});

document.addEventListener("change", (event) => {
  const input = event.target;
  if (!form() || !form().contains(input)) return;
  if (input.dataset.codes && input.files.length) codes(input);
  else if (input.dataset.sample && input.files.length) sample(input);
  else if (input.matches("select[data-rebuild], input[data-rebuild], textarea[data-rebuild]")) rebuild();
});

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-once]")) {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
    return;
  }
  if (event.target !== form()) return;
  const button = event.submitter;
  if (button && button.hasAttribute("formaction")) return keep();
  event.preventDefault();
  rebuild(button && button.name ? { [button.name]: button.value } : {});
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = "Copied";
});

function watch(card) {
  const events = new EventSource(card.dataset.events);
  events.onmessage = (event) => {
    const now = JSON.parse(event.data);
    if (now.state !== "waiting" && now.state !== "running") {
      events.close();
      return location.reload();
    }
    document.getElementById("progress").value = now.finished;
    document.getElementById("progress-text").textContent = `${now.finished} of ${now.of} numbers are drawn.`;
  };
  events.onerror = () => { events.close(); setTimeout(() => location.reload(), 2000); };
}

const card = document.querySelector("[data-events]");
if (card) watch(card);
if (form() && form().hasAttribute("data-start")) {
  const kept = sessionStorage.getItem(KEPT);
  const body = kept ? new URLSearchParams(kept) : fields();
  body.set("csrf", form().elements.csrf.value);
  rebuild({}, body);
}
