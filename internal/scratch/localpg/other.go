//go:build !unix

package localpg

import (
	"context"
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/scratch"
)

// Provider starts throwaway servers. On this system it cannot.
type Provider struct {
	BinDirs []string
}

// Start returns an error: it takes Unix sockets and process signals.
func (p *Provider) Start(context.Context, scratch.Spec) (*scratch.Server, error) {
	return nil, fmt.Errorf("start throwaway server: %w", errSystem)
}

// StartPrograms returns an error, as Start does.
func StartPrograms(context.Context, Programs, scratch.Spec) (*scratch.Server, error) {
	return nil, errSystem
}

var errSystem = errors.New("not possible on this operating system")
