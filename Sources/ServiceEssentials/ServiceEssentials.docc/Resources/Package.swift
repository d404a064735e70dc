// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Roster",
    dependencies: [.package(path: "../ServiceEssentials")],
    targets: [
        .executableTarget(
            name: "Roster", dependencies: [.product(name: "ServiceEssentials", package: "ServiceEssentials")]),
        .testTarget(
            name: "RosterTests",
            dependencies: ["Roster", .product(name: "EssentialsTestKit", package: "ServiceEssentials")]),
    ]
)
