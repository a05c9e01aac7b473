// Everything: train a network, or a model on a table, on whatever computes fastest here.
#pragma once

#include "shunt/backend.hpp"
#include "shunt/data.hpp"
#include "shunt/epoch.hpp"
#include "shunt/error.hpp"
#include "shunt/file.hpp"
#include "shunt/gpu.hpp"
#include "shunt/model.hpp"
#include "shunt/network.hpp"
#include "shunt/offload.hpp"
#include "shunt/tensor.hpp"
