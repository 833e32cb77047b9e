const NAMES_REMEMBERED_MAX = 20_000;

/** The types of properties. An app accepts its own declarations and the presets that every client SDK sends. */
export const PROPERTY_TYPES = ["string", "number", "bool", "datetime", "list", "object"] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

export const METADATA_MODES = ["open", "strict"] as const;
export type MetadataMode = (typeof METADATA_MODES)[number];

/** Properties of events and of users are declared separately, because the same name may mean different things. */
export const PROPERTY_SCOPES = ["event", "user"] as const;
export type PropertyScope = (typeof PROPERTY_SCOPES)[number];

/** "observed": seen in open mode. "declared": by a person. "disabled": by a person, and no longer stored. */
export const META_STATES = ["observed", "declared", "disabled"] as const;
export type MetaState = (typeof META_STATES)[number];

export type AppMetadata = {
  mode: MetadataMode;
  events: ReadonlyMap<string, MetaState>;
  /** Declared properties only, by scope. */
  properties: Readonly<Record<PropertyScope, ReadonlyMap<string, PropertyType>>>;
};

/** Whether two have the same content, so that a holder of one does not need the other. */
export function isSameMetadata(one: AppMetadata, other: AppMetadata): boolean {
  return (
    one.mode === other.mode &&
    isSameMap(one.events, other.events) &&
    PROPERTY_SCOPES.every((scope) => isSameMap(one.properties[scope], other.properties[scope]))
  );
}

function isSameMap<Value>(one: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>): boolean {
  if (one.size !== other.size) return false;
  for (const [name, value] of one) if (other.get(name) !== value) return false;
  return true;
}

export const NAME = /^[A-Za-z$][A-Za-z0-9_]{0,49}$/;
/** A name that an app can declare; names with a `$` are presets. */
export const OWN_NAME = /^[A-Za-z][A-Za-z0-9_]{0,49}$/;

export const PRESET_EVENTS: ReadonlySet<string> = new Set([
  ...["$MPLaunch", "$MPShow", "$MPHide", "$MPhide", "$MPShare", "$MPViewScreen", "$MPAddFavorites"],
  ...["$MPRegister", "$MPLogin", "$MPLogout", "$AppRegister", "$AppLogin", "$AppLogout"],
  ...["$AppInstall", "$AppStart", "$AppEnd", "$AppView", "$AppClick", "$AppCrash", "$AppBgStart"],
  ...["$WebPageView", "$WebPageHide", "$SceneLoaded", "$SceneUnloaded"],
  ...["$PayEvent", "$RefundEvent", "$UserWithdraw", "$BindThirdPlatform", "$UserFirstRegister"],
  ...["$AdLoad", "$AdShow", "$AdSkip", "$AdClick", "$AdPlayStart", "$AdPlayEnd"],
]);

/** The expected type of a property: a declared type, anything, or an id, which is a text or a number of any length. */
export type ExpectedType = PropertyType | "any" | "id";

/** Presets with a type: money must be a number. All others keep whatever type the SDK gives them. */
const TYPED_PRESETS: [string, ExpectedType][] = [
  ["$pay_amount", "number"],
  ["$ecpm", "number"],
  ["$order_id", "id"],
  ["$trace_id", "id"],
  ["$refund_id", "id"],
];

const UNTYPED_PRESETS = [
  ...["$lib", "$lib_version", "$app_id", "$app_version", "$bundle_id", "$os", "$os_version", "$brand", "$manufacturer"],
  ...["$model", "$device_id", "$device_type", "$device_model", "$device_brand", "$screen_width", "$screen_height"],
  ...["$system_language", "$network_type", "$carrier", "$scene", "$today_first_scene", "$first_scene", "$ram", "$disk"],
  ...["$fps", "$simulator", "$install_time", "$zone_offset", "$timezone_offset", "$session_id", "$uuid"],
  ...["$first_check_id", "$event_id", "$distinct_id", "$account_id", "$anonymous_id", "$user_id", "$client_id"],
  ...["$ip", "$ua", "$user_agent", "$browser", "$browser_version", "$country", "$province", "$city", "$flush_time"],
  ...["$url_query", "$url_path", "$is_first_time", "$event_duration", "$share_method", "$share_depth", "$referrer"],
  ...["$resume_from_background", "$start_reason", "$background_duration", "$screen_name", "$title", "$url"],
  ...["$element_id", "$element_type", "$element_content", "$element_position", "$element_selector", "$element_path"],
  ...["$app_crashed_reason", "$scene_name", "$scene_path", "$guide_step", "$duration", "$is_play_over"],
  ...["$pay_type", "$pay_reason", "$pay_method", "$is_first_pay", "$is_virtual"],
  ...[
    "$ad_through",
    "$ad_placement_id",
    "$ad_source_id",
    "$ad_type",
    "$adn_type",
    "$ad_unit_id",
    "$third_platform_type",
  ],
  ...["$ta_account_id", "$ta_distinct_id", "$channel", "$first_visit_time", "$name", "$gender", "$age", "$level"],
  ...["$phone_brand", "$phone_model", "$rom", "$rom_version", "$android_version", "$api_version", "$sdk_version"],
  ...["$platform", "$orientation", "$screen_orientation", "$pixel_ratio", "$theme", "$wx_openid", "$latest_scene"],
];

const PRESET_PROPERTIES: ReadonlyMap<string, ExpectedType> = new Map<string, ExpectedType>([
  ...UNTYPED_PRESETS.map((name): [string, "any"] => [name, "any"]),
  ...TYPED_PRESETS,
]);

/** The type that a property must have; "any" when none is declared, undefined when the app does not accept it. */
export type TypeOfProperty = (name: string) => ExpectedType | undefined;

const remembered = new WeakMap<AppMetadata, Record<PropertyScope, TypeOfProperty>>();

/** The property types of an app, cached by name because the same few names come with every event. */
export function propertyTypes(metadata: AppMetadata, scope: PropertyScope): TypeOfProperty {
  let types = remembered.get(metadata);
  if (!types) {
    types = { event: rememberTypes(metadata, "event"), user: rememberTypes(metadata, "user") };
    remembered.set(metadata, types);
  }
  return types[scope];
}

function rememberTypes(metadata: AppMetadata, scope: PropertyScope): TypeOfProperty {
  const types = new Map<string, ExpectedType | undefined>();
  return (name) => {
    const known = types.get(name);
    if (known !== undefined || types.has(name)) return known;
    const type = askType(metadata, scope, name);
    if (types.size < NAMES_REMEMBERED_MAX) types.set(name, type);
    return type;
  };
}

function askType(metadata: AppMetadata, scope: PropertyScope, name: string): ExpectedType | undefined {
  const declared = metadata.properties[scope].get(name) ?? PRESET_PROPERTIES.get(name);
  if (declared !== undefined) return declared;
  if (metadata.mode === "strict" || name.startsWith("$") || !NAME.test(name)) return undefined;
  return "any";
}

/** Whether a property is a preset, which is never noted as observed. */
export function isPresetProperty(name: string): boolean {
  return PRESET_PROPERTIES.has(name);
}
