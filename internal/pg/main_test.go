package pg

import (
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
