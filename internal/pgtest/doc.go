// Package pgtest gives a test a PostgreSQL server of every version at hand, and
// on it a fresh database. In comes nothing but the machine and two environment
// variables, out comes a [DB] with a connection string; all of it is gone when
// the test is over.
//
// The servers are throwaway servers of scratch/localpg, one per version and test
// process, started when the first test wants it. A package that uses them says so
// in its TestMain:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestColumns(t *testing.T) {
//		pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
//			db := s.NewDatabase(t)
//			db.Exec(t, `create table t (a int)`)
//			…
//		})
//	}
//
// # Environment
//
// PGHAUL_PG_BINDIRS names further folders of server programs, as for the
// commands (see scratch/localpg).
//
// PGHAUL_TEST_SERVERS names further servers, separated by commas. An entry is
// either a folder of server programs, or the connection string of a running
// server, whose superuser's databases the tests may create and drop. In front of
// the connection string may stand the major version, behind it the folder of the
// client programs of that version:
//
//	/opt/pg16/bin,17=postgres://postgres@127.0.0.1:5417/postgres;client=/opt/pg17/bin
//
// An entry takes the place of the server of the same version that would be
// started otherwise.
//
// PGHAUL_TEST_VERSIONS, if set, limits the tests to these major versions: "15,18".
//
// PGHAUL_TEST_KEEP=1 keeps the databases of failed tests, and says how to look at
// them. PGHAUL_TEST_FORBID_SKIP=1 makes a test fail instead of skip if something
// it needs is missing.
package pgtest
