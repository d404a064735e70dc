// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsResources

private typealias Picture = ShopModels.Picture
private typealias Report = ShopModels.Report

private let app = Application()
private let show = app
private let bytes = Data()
private var service: HTTPResourceService { given() }
private func decrypt(_ bytes: Data) throws -> Data { bytes }

// Pipeline/ImageHeader.swift
private func imageHeaderExample() async throws {
    let logo: Resource<Data> = service.resource("logo")
    let header = try await logo.imageHeader.loadIfNeeded()
    show("\(header.format), \(header.width) × \(header.height)")
}

// Pipeline/PipelineEntity.swift
private func pipelineEntityExample() throws {
    try service.configure("/**") {
        $0.pipeline.transformEntity(at: .raw) { (entity: PipelineEntity<Data>) in
            var entity = entity
            entity.content = try decrypt(entity.content)
            entity.mediaType = .json
            return entity
        }
    }
}

// Pipeline/PipelineStage.swift
private func pipelineStageExample() async throws {
    let filtering: PipelineStage = "filtering"
    try service.configure("/reports/*") { $0.pipeline.order = [.raw, .decoding, .parsing, .model, filtering] }
    use(filtering)
}

// Pipeline/ResourcePipeline.swift
private func resourcePipelineExample() async throws {
    try service.configure("/reports/*", methods: [.get]) {
        $0.pipeline.transform(at: .decoding) { (bytes: Data) in try decrypt(bytes) }
        $0.pipeline.transform(at: .model) { (bytes: Data) in try Report(bytes) }
        $0.pipeline.transform(at: .cleanup, appends: true) { (report: Report) in report.sorted() }
        $0.pipeline.add(.content(Report.none, forStatus: 404), at: .model)
    }
}

// Pipeline/Transformer.swift
private func transformerExample() async throws {
    let picture = Transformer(for: [try MediaPattern("image/*")]) { (bytes: Data) in try Picture(bytes) }
    try service.configure("/pictures/*") { $0.pipeline.add(picture, at: .model) }
}
