// swift-tools-version: 6.2
import PackageDescription

/// Settings every Swift target shares: nothing existential by accident, imports private unless said
/// otherwise, and no warning left standing.
let houseRules: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A layer of the program: it may import exactly the layers named here (`tools/check-layers` looks).
func layer(_ name: String, _ imports: [String], path: String? = nil, resources: [Resource]? = nil) -> Target {
    .target(
        name: name,
        dependencies: imports.map { .byName(name: $0) },
        path: path,
        resources: resources,
        swiftSettings: houseRules
    )
}

/// The tests of one layer, with the layers their scripts build values from.
func tests(_ name: String, _ imports: [String]) -> Target {
    .testTarget(name: name, dependencies: imports.map { .byName(name: $0) }, swiftSettings: houseRules)
}

let package = Package(
    name: "understudy",
    products: [.executable(name: "understudy", targets: ["understudy"])],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        .systemLibrary(name: "CGetopt"),

        layer("Encoding", []),
        layer("Crypto", ["Encoding", "COpenSSL"]),
        layer("JOSE", ["Encoding", "Crypto"]),
        layer("HTTP", ["Encoding"]),
        layer("Transport", ["Encoding", "HTTP", "CLinux", "COpenSSL"]),
        layer("OAuth", ["Encoding", "Crypto", "JOSE", "HTTP"]),
        layer("Device", ["Encoding", "Crypto", "JOSE", "Profiles"]),
        layer("SignIn", ["Encoding", "Crypto", "JOSE", "HTTP", "OAuth", "Device", "Profiles"]),
        layer("ReferenceIdP", ["Encoding", "Crypto", "JOSE", "HTTP", "Profiles"]),
        layer("Profiles", [], path: "Profiles", resources: [.embedInCode("sensecrypt.json5")]),
        layer("Store", ["Encoding", "CSQLite", "Device"]),
        layer(
            "Engine",
            ["Encoding", "Crypto", "JOSE", "HTTP", "Transport", "OAuth", "Device", "SignIn", "Store", "Profiles"]),
        layer(
            "Conformance",
            [
                "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "OAuth", "Device", "SignIn", "Engine", "Profiles",
            ]),
        layer(
            "Control",
            [
                "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "OAuth", "Device", "SignIn", "Store", "Engine",
                "ReferenceIdP", "Profiles", "Conformance",
            ]),
        layer(
            "Scenario",
            [
                "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "Device", "Store", "Engine", "Control",
                "ReferenceIdP", "Profiles",
            ]),
        .executableTarget(
            name: "understudy",
            dependencies: [
                "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "Device", "SignIn", "ReferenceIdP", "Store",
                "Engine",
                "Control", "Scenario", "Profiles", "CGetopt",
            ],
            swiftSettings: houseRules
        ),

        tests("EncodingTests", ["Encoding"]),
        tests("CryptoTests", ["Encoding", "Crypto"]),
        tests("JOSETests", ["Encoding", "Crypto", "JOSE"]),
        tests("HTTPTests", ["Encoding", "HTTP"]),
        tests("TransportTests", ["Encoding", "HTTP", "Transport"]),
        tests("OAuthTests", ["Encoding", "Crypto", "JOSE", "HTTP", "OAuth"]),
        tests("DeviceTests", ["Encoding", "Crypto", "JOSE", "Device"]),
        tests("SignInTests", ["Encoding", "Crypto", "JOSE", "HTTP", "OAuth", "Device", "SignIn"]),
        tests("ReferenceIdPTests", ["Encoding", "Crypto", "JOSE", "HTTP", "ReferenceIdP", "Profiles"]),
        tests(
            "ConformanceTests",
            [
                "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "OAuth", "Device", "Profiles", "ReferenceIdP",
                "Conformance",
            ]),
        tests("StoreTests", ["Encoding", "Device", "SignIn", "Store"]),
        tests(
            "EngineTests",
            [
                "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "OAuth", "Device", "SignIn", "Store", "Engine",
                "ReferenceIdP", "Control", "Profiles",
            ]),
        tests(
            "ScenarioTests",
            [
                "Encoding", "Crypto", "HTTP", "Transport", "Store", "Engine", "Control", "ReferenceIdP", "Scenario",
            ]),
        tests(
            "UnderstudyTests",
            ["understudy", "Encoding", "Crypto", "JOSE", "HTTP", "Transport", "ReferenceIdP", "Engine", "Control"]),
    ],
    swiftLanguageModes: [.v6]
)
