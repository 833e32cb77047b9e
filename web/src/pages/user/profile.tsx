import type { UserView } from "../../../../src/contract/admin/admin-user.ts";
import { useTexts } from "../../texts.ts";
import { Facts, jsonText } from "./facts.tsx";
import { texts } from "./texts.ts";

/** The user's identity, device and properties set by the app. */
export function Profile({ user }: { user: UserView }) {
  const text = useTexts(texts);
  const { record } = user;
  const { fields } = text;
  const place = [record.user$country, record.user$province, record.user$city].filter(Boolean).join(" · ");
  const properties = Object.entries(user.properties);
  return (
    <div className="grid">
      <section className="card">
        <h2>{text.identity}</h2>
        <Facts
          facts={[
            [fields.client_id, record.ClientID],
            [fields.name, record.Name],
            [fields.channel, record.Channel],
            [fields.version, String(record.Version)],
            [fields.wx_openid, record.WXOpenID],
            [fields.wx_unionid, user.wx_unionid],
            [fields.os_platform, user.os_platform],
            [fields.place, place],
            [fields.ip, user.ip],
            [fields.ua, user.ua],
          ]}
        />
      </section>
      <section className="card">
        <h2>{text.device}</h2>
        {user.device ? (
          <Facts
            facts={Object.entries(user.device).map(
              ([name, value]) => [name, value === 0 ? "" : String(value)] as const,
            )}
          />
        ) : (
          <p className="soft">{text.noDevice}</p>
        )}
      </section>
      <section className="card">
        <h2>{text.properties}</h2>
        {properties.length > 0 ? (
          <Facts facts={properties.map(([name, value]) => [name, jsonText(value)] as const)} />
        ) : (
          <p className="soft">{text.noProperties}</p>
        )}
      </section>
    </div>
  );
}
