"""Published vectors, recomputed by both JOSE libraries, and the forms both must turn down."""

from __future__ import annotations

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from joserfc import jwk, jws

from two_libraries import (JSONObject, Refused, b64u, joserfc_accepts, jwcrypto_accepts, take_apart, thumbprint,
                           unb64u, verify)

# RFC 9449 sections 4.1, 5, 6.1 and 7.1.
RFC9449_KEY = {"kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
               "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}
RFC9449_HEADER = ("eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklD"
                  "UkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2"
                  "R1JEQSIsImNydiI6IlAtMjU2In19")
RFC9449_PROOFS = {
    "token request": (
        "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
        "IiwiaWF0IjoxNTYyMjYyNjE2fQ",
        "2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg",
        {"htm": "POST", "htu": "https://server.example.com/token", "iat": 1562262616, "jti": "-BwC3ESc6acc2lTc"}),
    "refresh request": (
        "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
        "IiwiaWF0IjoxNTYyMjY1Mjk2fQ",
        "pAqut2IRDm_De6PR93SYmGBPXpwrAk90e8cP2hjiaG5QsGSuKDYW7_X620BxqhvYC8ynrrvZLTk41mSRroapUA",
        {"htm": "POST", "htu": "https://server.example.com/token", "iat": 1562265296, "jti": "-BwC3ESc6acc2lTc"}),
    "resource request": (
        "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90"
        "ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtz"
        "bVFFbyJ9",
        "2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA",
        {"htm": "GET", "htu": "https://resource.example.org/protectedresource", "iat": 1562262618,
         "jti": "e1j3V_bKic8-LAEB", "ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}),
}
# Made for this project; `wrong` is the thumbprint a writer who drops the leading zero byte computes.
LEADING_ZERO_KEYS = {
    "x": ({"kty": "EC", "crv": "P-256", "d": "7zLr_BENm3m1pP8j0zpaLGuKd4XB20OyqagycwBnNaU",
           "x": "APFyjLiNwUmncHSgm2nh3ywBfClkVURVtu938qqKA4k", "y": "kI7bTBQs36tSsuymgVxbsBgGWjX95uekdAZObAstQMo"},
          "vY3L2LeMkROKHrd0ol_UvSYKfMn7L5eKI8bcUkEWVFs", "hf42bbOSzRJNxJAkzku-fMdW0llYIGdUfxWiXpZxbSI"),
    "y": ({"kty": "EC", "crv": "P-256", "d": "ZwrOlBsraqz3S0lzKdET2aFBR5JZo5hN-_r_8_4hYrQ",
           "x": "oDoQRrg0k0Xe7zxZaWSQS6Z1V8NKsoR0ZNVLtHgoW8Q", "y": "AGgn7p0GioFAmr3OFveU4EAZj3uC2kt8D1KwIrtusbk"},
          "RHCBPF-tGC5_EYaVLoO8CODrVlcOFCDpHmgB6L75pAw", "ucbTWsNbQ2QX-IbWy7US4ccU0PL700nOW1eI5d9aE-8"),
}
OUR_PROOF = (
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwiY3J2IjoiUC0yNTYiLCJ4IjoicGhJVWhKOTIyY25f"
    "ckhUa3lvMUd3NXU4RlZvSTJfNldtRDVqRTdjV2xhTSIsInkiOiJua2QtQWQ1azBPdGlkekhlcC1PaFV2bk9QZ3JKaEtISlpwX2VIZERVenQw"
    "In19.eyJqdGkiOiJmM2MxYTBkMi02ZDFiLTRhMWUtOWE1NS0wYjhlM2M3ZDllMDEiLCJodG0iOiJQT1NUIiwiaHR1IjoiaHR0cHM6Ly9pZHAu"
    "dGVzdC9vYXV0aDIvY2hhbGxlbmdlIiwiaWF0IjoxNzkwMDAwMDAwfQ.dEKR4VZSC86fBv8rEV6lb3e4__8ucIMoFdC8lRsybVGHNrj1QCGrmG"
    "Eo1xnBazFwRKZM7DizKTVdjJny_Q2zgQ")
RFC7638_RSA = {
    "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
    "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4"
         "n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0z"
         "gdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csF"
         "Cur-kEgU8awapJzKnqDKgw"}


def hashed(text: str) -> str:
    return b64u(hashlib.sha256(text.encode("ascii")).digest())


def public(key: JSONObject) -> JSONObject:
    return {name: value for name, value in key.items() if name != "d"}


@pytest.mark.parametrize("name", RFC9449_PROOFS)
def test_the_proofs_printed_in_rfc_9449_verify(name: str) -> None:
    payload, signature, claims = RFC9449_PROOFS[name]
    token = verify(f"{RFC9449_HEADER}.{payload}.{signature}", RFC9449_KEY)
    assert token.header["typ"] == "dpop+jwt"
    assert {key: token.header["jwk"][key] for key in ("kty", "crv", "x", "y")} == RFC9449_KEY
    assert token.claims == claims


def test_the_thumbprint_printed_in_rfc_9449() -> None:
    assert thumbprint(RFC9449_KEY) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"


def test_the_access_token_hash_printed_in_rfc_9449() -> None:
    assert hashed("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU") == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"


def test_the_rsa_thumbprint_printed_in_rfc_7638_ignores_alg_and_kid() -> None:
    assert thumbprint(RFC7638_RSA) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def test_a_third_party_key_with_a_leading_zero() -> None:
    key = {"kty": "EC", "crv": "P-256", "x": "APgYG5BNQBWVT-w7yW51bi9M5hVluuqPOGXXl5if_NM",
           "y": "QmnCr5fkc5hvPAHJlus28hFl9fvENm3BAHbt7YcDakQ"}
    assert thumbprint(key) == "blYhrm9qF1QjcvW-PCH4EI6gqOq6p1fcH8eCuxaT0WU"


@pytest.mark.parametrize("member", LEADING_ZERO_KEYS)
def test_keys_with_a_leading_zero_keep_it(member: str) -> None:
    key, right, wrong = LEADING_ZERO_KEYS[member]
    assert thumbprint(public(key)) == right
    short = public(key) | {member: b64u(unb64u(key[member])[1:])}
    # Why the referees measure coordinates themselves: this library computes the wrong name, unasked.
    assert jwk.import_key(short).thumbprint() == wrong
    with pytest.raises(Refused, match="jwk.coordinate"):
        thumbprint(short)


@pytest.mark.parametrize("member", LEADING_ZERO_KEYS)
def test_a_key_with_a_leading_zero_signs_what_both_libraries_verify(member: str) -> None:
    key, _, _ = LEADING_ZERO_KEYS[member]
    compact = jws.serialize_compact({"alg": "ES256"}, b"{}", jwk.import_key(key))
    assert verify(compact, public(key)).claims == {}


def test_our_proof_verifies_and_its_key_has_the_printed_thumbprint() -> None:
    token = take_apart(OUR_PROOF)
    verify(OUR_PROOF, token.header["jwk"])
    assert thumbprint(token.header["jwk"]) == "x2ldtm44UehvF83UVwgzFcEh6GlnSOIK-MSrpmv3IVc"
    assert token.claims["htu"] == "https://idp.test/oauth2/challenge"


@pytest.mark.parametrize(("verifier", "challenge"), [
    ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
    ("bEaL42izcC-o-xBk0K2vuJ6U-y1p9r_wW2dFWIWgjz-", "HtPJkE32DJkowXxFcEC5nnFXgv1Z97Cn_krX96qwH0E"),
    ("Zk3vQ0p9wX7sLr2uHn8bTy5cGa1dJe6fKi4mOo0QqRs", "kGFG0PxTjbRy5jtsYeCSieF-IUiufTS0o_jqnFNcxoU"),
])
def test_pkce_challenges(verifier: str, challenge: str) -> None:
    assert hashed(verifier) == challenge


def rewritten(compact: str, signature: str) -> str:
    return compact.rsplit(".", 1)[0] + "." + signature


def spoilt_signatures() -> dict[str, str]:
    raw = take_apart(OUR_PROOF).signature
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    return {
        "DER": b64u(encode_dss_signature(r, s)),
        "63 bytes": b64u(raw[:-1]),
        "65 bytes": b64u(raw + b"\0"),
        "a flipped bit": b64u(bytes([raw[0] ^ 1]) + raw[1:]),
        "zeros": b64u(bytes(64)),
        "r and s swapped": b64u(raw[32:] + raw[:32]),
    }


@pytest.mark.parametrize("form", spoilt_signatures())
def test_a_spoilt_signature_is_refused_by_each_library_alone(form: str) -> None:
    compact = rewritten(OUR_PROOF, spoilt_signatures()[form])
    key = take_apart(OUR_PROOF).header["jwk"]
    assert not joserfc_accepts(compact, key, "ES256")
    assert not jwcrypto_accepts(compact, key, "ES256")
    with pytest.raises(Refused):
        verify(compact, key)


def test_padding_and_the_other_alphabet_are_refused() -> None:
    key = take_apart(OUR_PROOF).header["jwk"]
    raw = take_apart(OUR_PROOF).signature
    padded = rewritten(OUR_PROOF, base64.urlsafe_b64encode(raw).decode())
    standard = rewritten(OUR_PROOF, base64.b64encode(raw).decode().rstrip("="))
    assert standard != OUR_PROOF
    for compact in (padded, standard):
        assert not joserfc_accepts(compact, key, "ES256")
        # jwcrypto decodes both; that is why `verify` looks at the form before it asks.
        assert jwcrypto_accepts(compact, key, "ES256")
        with pytest.raises(Refused, match="base64url"):
            verify(compact, key)


def test_spare_bits_in_the_last_character_are_refused() -> None:
    last = OUR_PROOF[-1]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    neighbour = alphabet[alphabet.index(last) + 1]
    with pytest.raises(Refused, match="base64url.spare_bits"):
        verify(OUR_PROOF[:-1] + neighbour, take_apart(OUR_PROOF).header["jwk"])


def test_a_private_key_in_the_header_is_refused() -> None:
    with pytest.raises(Refused, match="jwk.private_member"):
        thumbprint(LEADING_ZERO_KEYS["x"][0])


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES384", "RS256"])
def test_another_algorithm_in_the_header_is_refused(algorithm: str) -> None:
    segments = OUR_PROOF.split(".")
    header = b64u(b'{"typ":"dpop+jwt","alg":"%s"}' % algorithm.encode())
    with pytest.raises(Refused, match="jws.alg"):
        verify(".".join([header, *segments[1:]]), take_apart(OUR_PROOF).header["jwk"])
