import Crypto
import Encoding
import JOSE
import Testing

/// The published values these tests compare with.
enum Vectors {
    /// The key of the examples of RFC 9449.
    static let rfc9449Key: JSON = [
        "kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
        "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
    ]
    static let rfc9449Thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
    static let rfc9449Token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
    static let rfc9449TokenHash = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"

    private static let rfc9449Header =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpD"
        + "a0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6"
        + "IlAtMjU2In19"

    /// Sections 4.1 and 5: POST https://server.example.com/token.
    static let rfc9449TokenProof =
        rfc9449Header
        + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
        + "IiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37"
        + "xRZT3Lg"

    /// Section 5, refresh: the same request later, with the same `jti`.
    static let rfc9449RefreshProof =
        rfc9449Header
        + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
        + "IiwiaWF0IjoxNTYyMjY1Mjk2fQ.pAqut2IRDm_De6PR93SYmGBPXpwrAk90e8cP2hjiaG5QsGSuKDYW7_X620BxqhvYC8ynrrvZLTk41mS"
        + "RroapUA"

    /// Section 7.1: GET https://resource.example.org/protectedresource with the token above.
    static let rfc9449ResourceProof =
        rfc9449Header
        + ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90"
        + "ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbV"
        + "FFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"

    /// The RSA key of RFC 7638 section 3.1, with the members that do not count.
    static let rfc7638Key: JSON = [
        "kty": "RSA",
        "n": .string(
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiF"
                + "V4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZg"
                + "nYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBni"
                + "Iqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"),
        "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
    ]
    static let rfc7638Thumbprint = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"

    /// A phone's key of the project's own examples.
    static let phoneScalar = "sHVSYgGAOCr4Mxm-anoBRan9t4qOUFxWzXc7ilxmHeQ"
    static let phoneX = "phIUhJ922cn_rHTkyo1Gw5u8FVoI2_6WmD5jE7cWlaM"
    static let phoneY = "nkd-Ad5k0OtidzHep-OhUvnOPgrJhKHJZp_eHdDUzt0"
    static let phoneThumbprint = "x2ldtm44UehvF83UVwgzFcEh6GlnSOIK-MSrpmv3IVc"
    static let phoneProof =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwiY3J2IjoiUC0yNTYiLCJ4IjoicGhJVWhKOTIyY25f"
        + "ckhUa3lvMUd3NXU4RlZvSTJfNldtRDVqRTdjV2xhTSIsInkiOiJua2QtQWQ1azBPdGlkekhlcC1PaFV2bk9QZ3JKaEtISlpwX2VIZERVenQw"
        + "In19.eyJqdGkiOiJmM2MxYTBkMi02ZDFiLTRhMWUtOWE1NS0wYjhlM2M3ZDllMDEiLCJodG0iOiJQT1NUIiwiaHR1IjoiaHR0cHM6Ly9pZHA"
        + "udGVzdC9vYXV0aDIvY2hhbGxlbmdlIiwiaWF0IjoxNzkwMDAwMDAwfQ.dEKR4VZSC86fBv8rEV6lb3e4__8ucIMoFdC8lRsybVGHNrj1QCGr"
        + "mGEo1xnBazFwRKZM7DizKTVdjJny_Q2zgQ"

    static func ecKey(_ x: String, _ y: String) -> JSON {
        ["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y)]
    }
}

extension JSON {
    /// The object with one member set, or taken out where the value is nil.
    func setting(_ name: String, _ value: JSON?) -> JSON {
        var object = object ?? JSONObject()
        object[name] = value
        return .object(object)
    }
}
