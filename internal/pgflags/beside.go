package pgflags

// Beside is what a backup has beside the archive, of a managed platform.
type Beside struct {
	StorageEndpoint, StorageRegion string
	StorageBuckets                 []string // none: all

	Probe       bool
	ProbeClaims string // file; "": the platform's own claims
}

func (b *Beside) options() []option {
	const group = "Of a managed platform"
	return []option{
		{long: "storage-endpoint", arg: "URL", group: group, help: "also the files that the platform stores, from this S3 endpoint; default: the environment's PGHAUL_STORAGE_ENDPOINT", set: setString(&b.StorageEndpoint), whole: true},
		{long: "storage-region", arg: "NAME", group: group, help: "region of that endpoint; default: the environment's PGHAUL_STORAGE_REGION, else us-east-1", set: setString(&b.StorageRegion), whole: true},
		{long: "storage-bucket", arg: "NAME", group: group, help: "only the files of this bucket; may be repeated", set: appendTo(&b.StorageBuckets), whole: true},
		{long: "probe", group: group, help: "record how many rows each of the platform's roles sees of tables with row security; a drill compares", set: setTrue(&b.Probe), whole: true},
		{long: "probe-claims", arg: "FILE", group: group, help: "probe as those whose claims are in this JSON file", set: setString(&b.ProbeClaims), whole: true},
	}
}
