#include <iostream>

#include "cli/app.h"

int main(int argc, char** argv) { return omniphi::cli::run_application(argc, argv, std::cerr); }
