// Files dropped here are read into the database, one after the other; for who may write.

import { sendFile } from "./api.js";
import { el, plural, say } from "./dom.js";

const MOST_BYTES = 45 * 1024 * 1024; // in base64 still a body that the server takes

export function ingestView(done) {
  const told = el("ul", { class: "past", "aria-live": "polite" });
  const picker = el("input", { id: "files", type: "file", multiple: true });
  const collection = el("input", { id: "into", placeholder: "by its own name", autocomplete: "off" });
  const read = async (files) => {
    let written = 0;
    for (const file of files) written += await one(file, collection.value.trim(), told);
    say(`${plural(files.length, "file")} read.`);
    if (written) done();
  };
  picker.addEventListener("change", () => read([...picker.files]));
  const zone = el("section", { class: "drop", "aria-label": "Add files", on: {
    dragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    dragleave: () => zone.classList.remove("over"),
    drop: (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      read([...event.dataTransfer.files]);
    },
  } },
    el("p", {}, "Drop files here, or ", el("label", { for: "files" }, "choose them: "), picker),
    el("p", { class: "note" }, el("label", { for: "into" }, "Into the collection "), collection));
  return el("div", { class: "card" }, el("h2", {}, "Add files"), zone, told);
}

async function one(file, collection, told) {
  const progress = el("progress", { max: 1, "aria-label": `Progress of ${file.name}` });
  const words = el("span", {}, ` ${file.name}: sending…`);
  told.prepend(el("li", {}, progress, words));
  try {
    if (file.size > MOST_BYTES) throw new Error("it is larger than 45 MB: use `redask ingest`");
    const body = { name: file.name, content: await base64(file), ...(collection ? { collection } : {}) };
    const summary = await sendFile(body, (sent, all) => {
      progress.value = sent / all;
      if (sent === all) {
        progress.removeAttribute("value"); // how long reading takes, nobody knows
        words.textContent = ` ${file.name}: reading…`;
      }
    });
    progress.value = 1;
    const problem = summary.problems[0]?.reason;
    words.textContent = problem ? ` ${file.name}: left out, ${problem}` : ` ${file.name}: ${plural(summary.written, "entity", "entities")} written${summary.removed ? `, ${summary.removed} removed` : ""}.`;
    return summary.written + summary.removed;
  } catch (error) {
    progress.remove();
    words.textContent = ` ${file.name}: ${error.message}`;
    return 0;
  }
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).slice(String(reader.result).indexOf(",") + 1)));
    reader.addEventListener("error", () => reject(new Error("it cannot be read")));
    reader.readAsDataURL(file);
  });
}
