-- Profiles were bounded by their number of properties, not by their size: some grew until every event of their user took
-- seconds. Those over 256 KiB are cut once. Lists keep their first elements up to 16 KiB, other values over 16 KiB go, and
-- of the rest the smallest stay. The audit log says how many users of which app were cut.
-- The size as stored is asked first, because it is read without unpacking. Nothing is packed tighter than 255 to 1.
with large as materialized (
  select app_id, client_id from user_account
  where pg_column_size(properties) > 1000 and octet_length(properties::text) > 262144
),
cut as (
  update user_account u
  set properties = coalesce((
    select jsonb_object_agg(kept.name, kept.value)
    from (
      select bounded.name, bounded.value,
        sum(octet_length(to_jsonb(bounded.name)::text) + octet_length(bounded.value::text) + 4)
          over (order by octet_length(bounded.value::text), bounded.name) as bytes
      from (
        select p.key as name,
          case when jsonb_typeof(p.value) = 'array' then (
            select coalesce(jsonb_agg(counted.item order by counted.place), '[]')
            from (
              select items.item, items.place, sum(octet_length(items.item::text) + 2) over (order by items.place) as bytes
              from jsonb_array_elements(p.value) with ordinality as items (item, place)
            ) counted
            where counted.bytes <= 16382 and counted.place <= 500
          ) else p.value end as value
        from jsonb_each(u.properties) p
      ) bounded
      where octet_length(bounded.value::text) <= 16384
    ) kept
    where kept.bytes <= 262142
  ), '{}')
  from large
  where u.app_id = large.app_id and u.client_id = large.client_id
  returning u.app_id
)
insert into audit_log (at_ms, actor, address, action, app_id, details)
select (select applied_at_ms from migration where name = '0016-profile-size.sql'), 'migration', '', 'profile.cut',
  cut.app_id, jsonb_build_object('users', count(*))
from cut group by cut.app_id
