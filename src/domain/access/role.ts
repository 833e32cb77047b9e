/** The roles, from the weakest to the strongest: each may do everything that the ones before it may. */
export const ROLES = ["viewer", "analyst", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** What an operation of the admin interface needs. */
export const NEEDS = ["report", "detail", "operate", "setting", "installation"] as const;
export type Need = (typeof NEEDS)[number];

/** The weakest role that fulfils each need. The last one must be held for all apps. */
export const LEAST_ROLE: Readonly<Record<Need, Role>> = {
  report: "viewer",
  detail: "analyst",
  operate: "operator",
  setting: "admin",
  installation: "admin",
};

/** A role for one app; null: for all apps, also those to come. */
export type Grant = { appId: number | null; role: Role };
/** What somebody may do. Of several roles for an app the strongest counts. */
export type Grants = readonly Grant[];

export function everywhere(role: Role): Grants {
  return [{ appId: null, role }];
}

/** The role for an app, or undefined when the app does not exist for the holder of the grants. */
export function roleIn(grants: Grants, appId: number): Role | undefined {
  return strongest(grants.filter((grant) => grant.appId === null || grant.appId === appId));
}

/** The role for all apps. */
export function roleEverywhere(grants: Grants): Role | undefined {
  return strongest(grants.filter(({ appId }) => appId === null));
}

/** The strongest role for any app. */
export function roleAnywhere(grants: Grants): Role | undefined {
  return strongest(grants);
}

function strongest(grants: Grants): Role | undefined {
  return ROLES.findLast((role) => grants.some((grant) => grant.role === role));
}

export function fulfils(role: Role | undefined, need: Need): boolean {
  return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(LEAST_ROLE[need]);
}

export function mayIn(grants: Grants, need: Need, appId: number): boolean {
  return fulfils(need === "installation" ? roleEverywhere(grants) : roleIn(grants, appId), need);
}

export function mayEverywhere(grants: Grants, need: Need): boolean {
  return fulfils(roleEverywhere(grants), need);
}

export function mayAnywhere(grants: Grants, need: Need): boolean {
  return fulfils(need === "installation" ? roleEverywhere(grants) : roleAnywhere(grants), need);
}

/** The apps for which the need is fulfilled. */
export type AppChoice = "all" | readonly number[];

export function appsFor(grants: Grants, need: Need): AppChoice {
  if (mayEverywhere(grants, need)) return "all";
  const named = grants.flatMap(({ appId }) => (appId === null ? [] : [appId]));
  return [...new Set(named)].filter((appId) => mayIn(grants, need, appId)).sort((one, other) => one - other);
}

export function isAmong(apps: AppChoice, appId: number | null): boolean {
  return apps === "all" || (appId !== null && apps.includes(appId));
}

/** What both allow: for every app, the weaker of the two roles. */
export function commonGrants(one: Grants, other: Grants): Grants {
  const apps = new Set([...one, ...other].map(({ appId }) => appId));
  return [...apps].flatMap((appId) => {
    const roleOf = (grants: Grants) => (appId === null ? roleEverywhere(grants) : roleIn(grants, appId));
    const role = weaker(roleOf(one), roleOf(other));
    return role === undefined ? [] : [{ appId, role }];
  });
}

function weaker(one: Role | undefined, other: Role | undefined): Role | undefined {
  return one === undefined || other === undefined ? undefined : ROLES.find((role) => role === one || role === other);
}

/** One role for each app: of several the strongest. */
export function strongestGrants(grants: Grants): Grants {
  const apps = new Set(grants.map(({ appId }) => appId));
  return [...apps].map((appId) => {
    const role = strongest(grants.filter((grant) => grant.appId === appId))!;
    return { appId, role };
  });
}

/** Roles as people write them: `viewer operator=1,2` is viewer of all apps and operator of two. Undefined when it is none. */
export function readGrants(text: string): Grants | undefined {
  const parts = text.split(" ").filter((part) => part !== "");
  const grants = parts.flatMap((part) => {
    const [, role, apps] = /^(\w+)(?:=(\d{1,9}(?:,\d{1,9})*))?$/.exec(part) ?? [];
    if (!ROLES.includes(role as Role)) return [undefined];
    const appIds = apps === undefined ? [null] : apps.split(",").map(Number);
    return appIds.map((appId) => ({ appId, role: role as Role }));
  });
  return grants.length > 0 && grants.every((grant) => grant !== undefined) ? grants : undefined;
}
