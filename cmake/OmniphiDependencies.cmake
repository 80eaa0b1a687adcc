# Finds the libraries that the layers link (docs/dependencies.md says why each). Used by the build and, installed beside
# the package's configuration, by everyone who says find_package(omniphi).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(GIF REQUIRED)
pkg_check_modules(OMNIPHI_JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(OMNIPHI_PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(OMNIPHI_WEBP REQUIRED IMPORTED_TARGET libwebp libwebpdemux)
pkg_check_modules(OMNIPHI_TIFF REQUIRED IMPORTED_TARGET libtiff-4)
pkg_check_modules(OMNIPHI_FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libavutil)
