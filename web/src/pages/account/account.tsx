import { useTexts } from "../../texts.ts";
import { TabPage } from "../../ui/tab-page.tsx";
import { PasswordTab } from "./password.tsx";
import { SecondFactorTab } from "./second-factor.tsx";
import { SessionsTab } from "./sessions.tsx";
import { texts } from "./texts.ts";
import { TokensTab } from "./tokens.tsx";

const CONTENTS = { password: PasswordTab, second: SecondFactorTab, sessions: SessionsTab, tokens: TokensTab };

/** A person's own things. */
export function AccountPage() {
  const text = useTexts(texts);
  return <TabPage title={text.title} about={text.about} tabs={text.tabs} contents={CONTENTS} />;
}
