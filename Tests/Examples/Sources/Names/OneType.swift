import Hummingbird
import ServiceEssentials
import struct ServiceEssentials.MediaType

let types: [MediaType] = [.json, .text]

func oneType() { isSame(ServiceEssentials.MediaType.self, MediaType.self) }
