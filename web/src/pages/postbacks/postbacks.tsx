import { useTexts } from "../../texts.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useUrlState } from "../../url-state.ts";
import { Callbacks } from "./callbacks.tsx";
import { Outbox } from "./outbox.tsx";
import { Queue } from "./queue.tsx";
import { Rules } from "./rules.tsx";
import { texts } from "./texts.ts";
import "./postbacks.css";

const CONTENTS = { outbox: Outbox, rules: Rules, queue: Queue, callbacks: Callbacks } as const;
type TabName = keyof typeof CONTENTS;

export function PostbacksPage() {
  const text = useTexts(texts);
  const [{ tab }, change] = useUrlState({ tab: "outbox" });
  const names = Object.keys(CONTENTS) as TabName[];
  const chosen = names.find((name) => name === tab) ?? "outbox";
  const Content = CONTENTS[chosen];
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs
        tabs={names.map((name) => ({ name, title: text.tabs[name] }))}
        chosen={chosen}
        onChoose={(name) => change({ tab: name })}
      >
        <Content />
      </Tabs>
    </>
  );
}
