import { useTexts } from "../../texts.ts";
import { TabPage } from "../../ui/tab-page.tsx";
import { Comparison } from "./comparison.tsx";
import { Ecpms } from "./ecpms.tsx";
import { texts } from "./texts.ts";

const CONTENTS = { comparison: Comparison, ecpms: Ecpms } as const;

export function AdRevenuePage() {
  const text = useTexts(texts);
  return <TabPage title={text.title} about={text.about} tabs={text.tabs} contents={CONTENTS} />;
}
