#include <ringside/models/tables/dataset_table.h>
#include <ringside/models/tables/model_table.h>

int main() { return ringside::ModelTable().empty() || ringside::DatasetTable().empty() ? 1 : 0; }
