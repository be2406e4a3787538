#pragma once

#include "partition/dataset/dataset.hpp"

namespace graphmill::test {

/// Users who buy items and know users, with a task of links over both edge
/// types, and one of three classes of what they buy.
inline dataset_info shop_with_tasks(std::int64_t users, std::int64_t items) {
  dataset_info info;
  info.name = "shop";
  info.node_types = {{.name = "user", .count = users},
                     {.name = "item", .count = items}};
  info.edge_types = {{.source = 0, .name = "buys", .destination = 1},
                     {.source = 1, .name = "rev_buys", .destination = 0},
                     {.source = 0, .name = "knows", .destination = 0}};
  info.tasks = {{.name = "links",
                 .edge_types = {0, 2},
                 .reverse_types = {edge_type_id{1}, edge_type_id{2}}},
                {.name = "stars",
                 .kind = edge_task_kind::edge_class,
                 .edge_types = {0},
                 .reverse_types = {edge_type_id{1}},
                 .class_count = 3}};
  return info;
}

} // namespace graphmill::test
