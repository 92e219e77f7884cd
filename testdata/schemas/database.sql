-- The database itself: settings, privileges, comment. To be dumped with --create.
-- roles pghaul_a, Pghaul B
do $$
begin
  execute format('comment on database %I is %L', current_database(), 'a database\comment');
  execute format('alter database %I connection limit 7', current_database());
  execute format('alter database %I set search_path to "$user", public, "Odd Schema"', current_database());
  execute format('alter database %I set work_mem to ''8MB''', current_database());
  execute format('alter database %I set "my.setting" to ''it''''s \ here''', current_database());
  execute format('alter role pghaul_a in database %I set statement_timeout to ''1min''', current_database());
  execute format('grant create, connect on database %I to pghaul_a', current_database());
  execute format('revoke temporary on database %I from public', current_database());
  execute format('grant temporary on database %I to "Pghaul B" with grant option', current_database());
end
$$;
