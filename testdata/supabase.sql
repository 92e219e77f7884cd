-- A project as Supabase has them: first what the platform makes, then what the user made. Who runs it is a superuser;
-- the user's objects belong to pghaul_supabase, who is no superuser, as the user postgres is none there.

DO $$
DECLARE r text;
BEGIN
    PERFORM pg_advisory_xact_lock(20041024);
    FOREACH r IN ARRAY ARRAY[
        'anon NOLOGIN NOINHERIT', 'authenticated NOLOGIN NOINHERIT', 'service_role NOLOGIN NOINHERIT BYPASSRLS',
        'supabase_auth_admin NOLOGIN NOINHERIT', 'pghaul_supabase LOGIN BYPASSRLS'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = split_part(r, ' ', 1)) THEN
            EXECUTE 'CREATE ROLE ' || r;
        END IF;
    END LOOP;
    GRANT anon, authenticated, service_role TO pghaul_supabase;
END $$;

CREATE SCHEMA auth AUTHORIZATION supabase_auth_admin;
CREATE SCHEMA extensions;
GRANT USAGE ON SCHEMA auth, extensions TO anon, authenticated, service_role, pghaul_supabase;
CREATE EXTENSION citext WITH SCHEMA extensions;
CREATE TABLE auth.users (
    id uuid PRIMARY KEY,
    email varchar(255),
    raw_user_meta_data jsonb,
    created_at timestamptz DEFAULT now()
);
ALTER TABLE auth.users OWNER TO supabase_auth_admin;
ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY;
GRANT SELECT, REFERENCES ON auth.users TO pghaul_supabase;
CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS $$
  select coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
  )::uuid
$$;
CREATE FUNCTION auth.jwt() RETURNS jsonb LANGUAGE sql STABLE AS $$
  select coalesce(nullif(current_setting('request.jwt.claim', true), ''), nullif(current_setting('request.jwt.claims', true), ''))::jsonb
$$;
GRANT ALL ON SCHEMA public TO pghaul_supabase;
GRANT USAGE ON SCHEMA public TO anon, authenticated, service_role;
INSERT INTO auth.users (id, email)
    SELECT ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'user' || i || '@example.test' FROM generate_series(1, 41) AS i; -- of them 41 has visits only

SET ROLE pghaul_supabase;
CREATE TABLE public.profile (
    id uuid PRIMARY KEY REFERENCES auth.users ON DELETE CASCADE,
    handle extensions.citext UNIQUE NOT NULL
);
CREATE TABLE public.team (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE public.member (
    team_id integer REFERENCES public.team,
    user_id uuid DEFAULT auth.uid() REFERENCES public.profile,
    PRIMARY KEY (team_id, user_id)
);
CREATE TABLE public.todo (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id integer NOT NULL REFERENCES public.team,
    author uuid REFERENCES auth.users (id) ON DELETE SET NULL,
    title text NOT NULL,
    public boolean NOT NULL DEFAULT false
);
CREATE TABLE public.visit (day date NOT NULL, visitor uuid REFERENCES auth.users) PARTITION BY RANGE (day);
CREATE TABLE public.visit_2025 PARTITION OF public.visit FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE public.visit_2026 PARTITION OF public.visit FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE FUNCTION public.my_teams() RETURNS SETOF integer LANGUAGE sql STABLE SECURITY DEFINER AS
    'SELECT team_id FROM public.member WHERE user_id = auth.uid()';
CREATE FUNCTION public.handle_new_user() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN INSERT INTO public.profile (id, handle) VALUES (new.id, new.email); RETURN new; END';
CREATE VIEW public.author AS SELECT u.id, u.email, u.created_at FROM auth.users u;
ALTER TABLE public.profile ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.team ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.todo ENABLE ROW LEVEL SECURITY;
CREATE POLICY "profiles are for everybody" ON public.profile FOR SELECT USING (true);
CREATE POLICY "own profile" ON public.profile FOR UPDATE TO authenticated USING (auth.uid() = id);
CREATE POLICY "own teams" ON public.team FOR SELECT TO authenticated USING (id IN (SELECT public.my_teams()));
CREATE POLICY "own memberships" ON public.member TO authenticated USING (user_id = (SELECT auth.uid()));
CREATE POLICY "todos of own teams" ON public.todo TO authenticated USING (team_id IN (SELECT public.my_teams()));
CREATE POLICY "public todos" ON public.todo FOR SELECT TO anon USING (public);
CREATE POLICY "staff" ON public.todo FOR SELECT TO authenticated USING ((auth.jwt() ->> 'user_role') = 'staff');
GRANT ALL ON ALL TABLES IN SCHEMA public TO service_role;
GRANT SELECT, INSERT, UPDATE, DELETE ON public.profile, public.member, public.todo, public.team TO authenticated;
GRANT SELECT ON public.profile, public.todo TO anon;
INSERT INTO public.profile SELECT id, split_part(email, '@', 1) FROM auth.users WHERE id > '00000000-0000-4000-8000-000000000005';
INSERT INTO public.team SELECT i, 'Team ' || i FROM generate_series(1, 5) AS i;
INSERT INTO public.member SELECT 1 + (row_number() OVER (ORDER BY id)) % 5, id FROM public.profile;
INSERT INTO public.todo (team_id, author, title, public)
    SELECT 1 + i % 5, ('00000000-0000-4000-8000-' || lpad((1 + i % 40)::text, 12, '0'))::uuid, 'Todo ' || i, i % 10 = 0 FROM generate_series(1, 400) AS i;
INSERT INTO public.visit SELECT '2025-06-01'::date + i, ('00000000-0000-4000-8000-' || lpad((1 + i % 41)::text, 12, '0'))::uuid FROM generate_series(1, 400) AS i;
INSERT INTO public.todo (team_id, title) VALUES (1, 'nobody''s');
RESET ROLE;
