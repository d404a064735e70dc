import EssentialsTransport  // TransportMetrics, TrustReport, HashFunctions
import ServiceEssentials

func nameOfItsOwnModule(_ response: DataResponse) -> TransportMetrics { response.metrics }
