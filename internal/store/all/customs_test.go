package all

import (
	"testing"

	"github.com/pghaul/pghaul/internal/store/s3store"
)

func TestCustoms(t *testing.T) {
	for endpoint, want := range map[string]s3store.Options{
		"":                                     {},
		"https://abc.r2.cloudflarestorage.com": {EqualParts: true, Region: "auto"},
		"https://abc.eu.r2.cloudflarestorage.com/":    {EqualParts: true, Region: "auto"},
		"s3.eu-central-003.backblazeb2.com":           {Checksum: s3store.MD5, Unconditional: true, Region: "eu-central-003"},
		"http://127.0.0.1:9000":                       {},
		"https://s3.eu-central-1.wasabisys.com":       {},
		"https://r2.cloudflarestorage.com.example.eu": {},
	} {
		o := s3store.Options{Endpoint: endpoint}
		customs(&o)
		if o.EqualParts != want.EqualParts || o.Region != want.Region || o.Checksum != want.Checksum || o.Unconditional != want.Unconditional {
			t.Errorf("%s: %+v, want %+v", endpoint, o, want)
		}
	}
}
