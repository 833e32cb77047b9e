-- Properties of new events are stored as text. As json, the database read each of them to see whether it is JSON, which the server
-- has made of it itself. Those of stored events stay as they are: writing them again would take hours.
alter table event add column properties_text text;
