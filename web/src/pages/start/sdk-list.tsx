import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { sdkChanges } from "./sdks.ts";
import { texts } from "./texts.ts";

/** Existing client SDKs, and how to point each at this server. */
export function SdkList() {
  const text = useTexts(texts);
  const app = useApp();
  const changes = sdkChanges({ baseUrl: location.origin, accessToken: app.access_token });
  return (
    <>
      <p className="soft">{text.sdkAbout}</p>
      <p className="notice">{text.domains}</p>
      {changes.map(({ name, kind, before, after }) => (
        <section key={name} className="stack tight sdk">
          <h3>{name}</h3>
          <span className="soft small">{text.sdkKinds[kind]}</span>
          <span className="small soft">{text.sdkBefore}</span>
          <pre className="sdk-before">{before}</pre>
          <span className="small soft">{text.sdkAfter}</span>
          <CopyBlock value={after} wrap />
        </section>
      ))}
    </>
  );
}
