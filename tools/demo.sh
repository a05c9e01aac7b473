#!/usr/bin/env bash
# Trains a network on Fashion-MNIST's 60,000 pictures of clothes and tests it on 10,000 others.
set -euo pipefail
cd "$(dirname "$0")/.."

shunt=build/release/shunt
data=/usr/share/datasets/fashion-mnist
model=build/demo/fashion.safetensors
training=(
    --layers dense:256,relu,dense:128,relu,dense:10
    --loss softmax
    --scale none # pictures are 0…1 already
    --epochs 6
    --batch 64
    --lr 0.001
    --lr-decay 0.7
)

mkdir -p build/demo
"$shunt" train "$data/train-images-idx3-ubyte.gz" --labels "$data/train-labels-idx1-ubyte.gz" \
    --validate "$data/t10k-images-idx3-ubyte.gz" --validate-labels "$data/t10k-labels-idx1-ubyte.gz" \
    "${training[@]}" -o "$model"
echo
echo "On the 10,000 test pictures:"
"$shunt" evaluate "$model" "$data/t10k-images-idx3-ubyte.gz" --labels "$data/t10k-labels-idx1-ubyte.gz"
