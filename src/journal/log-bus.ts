/**
 * Words between the processes of a shared log, besides its entries. They may be lost, and nobody repeats them. A process
 * does not hear its own.
 */
export type LogBus = {
  say(topic: string, text: string): void;
  hear(topic: string, heard: (text: string) => void): void;
  /** What the others answer within a while; those who do not know the topic are silent. */
  ask(topic: string, text: string): Promise<string[]>;
  answer(topic: string, answerOf: (text: string) => string): void;
};
