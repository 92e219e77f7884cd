package platform

// The other platforms have roles of their own, which stand in privileges and as owners, and nothing in a database that
// a user's objects refer to. None of these roles is a superuser on its platform.

var rds = &Profile{
	Name: "rds", Title: "Amazon RDS and Aurora",
	sure: []string{"rdsadmin", "rds_superuser", "rdstopmgr"},
	roles: []role{
		{name: "rdsadmin", options: "SUPERUSER"},
		{name: "rds_replication"},
		{name: "rds_password"},
		{name: "rds_superuser", in: []string{"pg_monitor", "pg_signal_backend", "rds_replication", "rds_password"}},
		{name: "rds_ad"},
		{name: "rds_iam"},
		{name: "rds_reserved"},
		{name: "rdstopmgr"},
		{name: "rdsrepladmin"},
		{name: "rds_extension"},
	},
	own: []string{"rdsadmin"},
}

var cloudSQL = &Profile{
	Name: "cloudsql", Title: "Google Cloud SQL and AlloyDB",
	sure: []string{"cloudsqlsuperuser", "cloudsqladmin", "alloydbsuperuser", "alloydbadmin"},
	roles: []role{
		{name: "cloudsqladmin", options: "SUPERUSER"},
		{name: "cloudsqlsuperuser", options: "CREATEDB CREATEROLE", in: []string{"pg_monitor", "pg_signal_backend"}},
		{name: "cloudsqlagent", options: "CREATEDB CREATEROLE"},
		{name: "cloudsqlimportexport", options: "CREATEDB CREATEROLE"},
		{name: "cloudsqlreplica", options: "REPLICATION"},
		{name: "cloudsqliamuser"},
		{name: "cloudsqliamserviceaccount"},
		{name: "cloudsqliamgroup"},
		{name: "alloydbadmin", options: "SUPERUSER"},
		{name: "alloydbsuperuser", options: "CREATEDB CREATEROLE", in: []string{"pg_monitor", "pg_signal_backend"}},
		{name: "alloydbiamuser"},
		{name: "alloydbagent", options: "CREATEDB CREATEROLE"},
		{name: "alloydbimportexport", options: "CREATEDB CREATEROLE"},
		{name: "alloydbreplica", options: "REPLICATION"},
	},
}

var azure = &Profile{
	Name: "azure", Title: "Azure Database for PostgreSQL",
	sure: []string{"azure_pg_admin", "azuresu", "azure_superuser"},
	roles: []role{
		{name: "azuresu", options: "SUPERUSER"},
		{name: "azure_superuser", options: "SUPERUSER"},
		{name: "azure_pg_admin", options: "CREATEDB CREATEROLE", in: []string{"pg_monitor", "pg_signal_backend"}},
		{name: "replication", options: "REPLICATION"},
	},
}

var neon = &Profile{
	Name: "neon", Title: "Neon",
	sure: []string{"neon_superuser", "cloud_admin", "neon_service", "neondb_owner"},
	roles: []role{
		{name: "cloud_admin", options: "SUPERUSER"},
		{name: "neon_superuser", options: "CREATEDB CREATEROLE REPLICATION BYPASSRLS", in: []string{"pg_read_all_data", "pg_write_all_data"}},
		{name: "neondb_owner", options: "CREATEDB CREATEROLE REPLICATION BYPASSRLS", in: []string{"neon_superuser"}},
		{name: "neon_service", options: "REPLICATION"},
		{name: "authenticated"},
		{name: "anonymous"},
	},
}
