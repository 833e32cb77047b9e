import { randomUUID } from "node:crypto";
import type { NatsConnection } from "@nats-io/transport-node";
import type { LogBus } from "../log-bus.ts";

/** How long answers are awaited. */
const ANSWER_MS = 300;

/** Words over the connection of a log. Each begins with the id of its sender. */
export class NatsBus implements LogBus {
  readonly #connection: NatsConnection;
  readonly #options: { name: string; isConnected: () => boolean };
  readonly #sender = randomUUID();

  constructor(connection: NatsConnection, options: { name: string; isConnected: () => boolean }) {
    this.#connection = connection;
    this.#options = options;
  }

  say(topic: string, text: string): void {
    // A word that is kept until there is a connection again would come too late.
    if (this.#connection.isClosed() || !this.#options.isConnected()) return;
    this.#connection.publish(this.#subjectOf(topic), this.#sender + text);
  }

  hear(topic: string, heard: (text: string) => void): void {
    void this.#listen(topic, (text) => heard(text));
  }

  async ask(topic: string, text: string): Promise<string[]> {
    const answers: string[] = [];
    try {
      const options = { strategy: "timer", maxWait: ANSWER_MS } as const;
      const replies = await this.#connection.requestMany(this.#subjectOf(topic), this.#sender + text, options);
      for await (const reply of replies) if (reply.data.length > 0) answers.push(reply.string());
    } catch {
      // Nobody answers.
    }
    return answers;
  }

  answer(topic: string, answerOf: (text: string) => string): void {
    void this.#listen(topic, (text, reply) => reply(answerOf(text)));
  }

  async #listen(topic: string, heard: (text: string, reply: (text: string) => void) => void): Promise<void> {
    for await (const message of this.#connection.subscribe(this.#subjectOf(topic))) {
      const text = message.string();
      if (text.startsWith(this.#sender)) continue;
      try {
        heard(text.slice(this.#sender.length), (answer) => void message.respond(answer));
      } catch {
        // Another version may say what this one does not understand.
      }
    }
  }

  #subjectOf(topic: string): string {
    return `${this.#options.name}.say.${topic}`;
  }
}
