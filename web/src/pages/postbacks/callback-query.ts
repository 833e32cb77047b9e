import type { CallbackList } from "../../../../src/contract/setting/account.ts";

export const CALLBACKS = "callbacks";

export type Callback = CallbackList["callbacks"][number];
export type Kind = Callback["kind"];
