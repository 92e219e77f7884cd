package estimate

import "strings"

// Price is what a platform asks for data that leave its network, in US dollars for a GB of 10^9 bytes. The figures are list
// prices of the platforms' cheapest regions in the year 2025, which change and which contracts change; they are there to
// show the order of magnitude.
type Price struct {
	Platform string  `json:"platform"`
	PerGB    float64 `json:"usd_per_gb"`
	FreeGB   float64 `json:"free_gb_a_month"` // for everything of an account or project, not for backups alone
	Note     string  `json:"note,omitempty"`

	hosts []string // ends of host names
}

// prices by the name of the database's host.
var prices = []Price{
	{"Supabase", 0.09, 250, "5 GB a month on the free plan, which then stops rather than bills", []string{".supabase.co", ".supabase.com"}},
	{"Amazon RDS or Aurora", 0.09, 100, "free within one region; the free 100 GB are the whole account's", []string{".rds.amazonaws.com", ".rds.amazonaws.com.cn"}},
	{"Amazon EC2", 0.09, 100, "free within one region; the free 100 GB are the whole account's", []string{".amazonaws.com"}},
	{"Azure Database for PostgreSQL", 0.087, 100, "free within one region; the free 100 GB are the whole account's", []string{".postgres.database.azure.com"}},
	{"Neon", 0.10, 100, "5 GB a month on the free plan", []string{".neon.tech"}},
	{"Aiven", 0, 0, "included in the plan", []string{".aivencloud.com"}},
}

// priceOf finds the price by the host of a server; local says that data stay on this machine or network.
func priceOf(host string) Price {
	h := strings.ToLower(strings.TrimSuffix(host, "."))
	if h == "" || h == "localhost" || strings.HasPrefix(h, "/") || strings.HasPrefix(h, "@") || strings.HasPrefix(h, "127.") || h == "::1" ||
		strings.HasPrefix(h, "10.") || strings.HasPrefix(h, "192.168.") || !strings.Contains(h, ".") && !strings.Contains(h, ":") {
		return Price{Platform: "this machine or its network"}
	}
	for _, p := range prices {
		for _, end := range p.hosts {
			if strings.HasSuffix(h, end) {
				return p
			}
		}
	}
	return Price{Platform: "unknown", PerGB: 0.09, Note: "what Amazon and others ask for the first terabytes; give --egress-price"}
}
