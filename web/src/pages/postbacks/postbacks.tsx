import { useTexts } from "../../texts.ts";
import { TabPage } from "../../ui/tab-page.tsx";
import { Connectors } from "../connectors/connectors.tsx";
import { Callbacks } from "./callbacks.tsx";
import { Outbox } from "./outbox.tsx";
import { Queue } from "./queue.tsx";
import { Rules } from "./rules.tsx";
import { texts } from "./texts.ts";
import "./postbacks.css";

const CONTENTS = {
  outbox: Outbox,
  rules: Rules,
  connectors: Connectors,
  queue: Queue,
  callbacks: Callbacks,
} as const;

export function PostbacksPage() {
  const text = useTexts(texts);
  return <TabPage title={text.title} about={text.about} tabs={text.tabs} contents={CONTENTS} />;
}
