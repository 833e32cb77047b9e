-- How an app describes the postbacks of a platform that has no connector in the program.
-- The declaration is kept as it was written, with the order of its fields.
create table declared_connector (
  app_id int not null,
  ad_platform text not null,
  declaration json not null,
  changed_at_ms bigint not null,
  primary key (app_id, ad_platform)
);
