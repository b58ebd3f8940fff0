// A Worker for pages that are read from a disk, where a browser starts none: a hidden frame runs its script instead.
// Material's search asks for no more than this. (On npm there is iframe-worker, whose inline script our
// Content-Security-Policy refuses.)

window.Worker = class extends EventTarget {
  constructor(address) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.inside.document.createElement("script");
    script.src = address;
    this.ready = new Promise((resolve) => (script.onload = resolve));
    this.inside.document.body.append(script);
  }

  async postMessage(data) {
    await this.ready;
    this.inside.dispatchEvent(new MessageEvent("message", { data }));
  }
};
