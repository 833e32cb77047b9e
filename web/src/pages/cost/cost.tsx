import { useTexts } from "../../texts.ts";
import { TabPage } from "../../ui/tab-page.tsx";
import { Accounts } from "./accounts.tsx";
import { Pulls } from "./pulls.tsx";
import { Rebates } from "./rebates.tsx";
import { StoredCosts } from "./stored-costs.tsx";
import { texts } from "./texts.ts";
import { Upload } from "./upload.tsx";
import "./cost.css";

const CONTENTS = { costs: StoredCosts, accounts: Accounts, pulls: Pulls, rebates: Rebates, upload: Upload } as const;

export function CostPage() {
  const text = useTexts(texts);
  return <TabPage title={text.title} about={text.about} tabs={text.tabs} contents={CONTENTS} />;
}
