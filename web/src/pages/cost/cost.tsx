import { useTexts } from "../../texts.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useUrlState } from "../../url-state.ts";
import { Accounts } from "./accounts.tsx";
import { Pulls } from "./pulls.tsx";
import { StoredCosts } from "./stored-costs.tsx";
import { texts } from "./texts.ts";
import { Upload } from "./upload.tsx";
import "./cost.css";

const CONTENTS = { costs: StoredCosts, accounts: Accounts, pulls: Pulls, upload: Upload } as const;
type TabName = keyof typeof CONTENTS;

export function CostPage() {
  const text = useTexts(texts);
  const [{ tab }, change] = useUrlState({ tab: "costs" });
  const names = Object.keys(CONTENTS) as TabName[];
  const chosen = names.find((name) => name === tab) ?? "costs";
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
