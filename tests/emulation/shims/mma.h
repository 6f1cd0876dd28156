#error "cannot be emulated: tensor cores"
