// The copies that a device makes on the side are in `device.h`, and made at once.
#pragma once
