//go:build !unix

package localpg

import (
	"context"
	"errors"

	"github.com/pghaul/pghaul/internal/scratch"
)

// Provider starts throwaway servers. On this system it cannot.
type Provider struct {
	BinDirs []string
}

// Start returns an error: it takes Unix sockets and process signals.
func (p *Provider) Start(context.Context, scratch.Spec) (*scratch.Server, error) {
	return nil, errors.New("start throwaway server: not possible on this operating system")
}
