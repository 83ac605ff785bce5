module statwalk.org/examples/largest

go 1.18

require github.com/ebitengine/purego v0.8.4
